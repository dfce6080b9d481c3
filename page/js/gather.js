// The files of what was dropped, folders walked through.

/**
 * @param {DataTransfer} dropped
 * @returns {Promise<{name: string, file: File}[]>}
 */
export async function gather(dropped) {
  // Entries are taken at once: the list is emptied when the event is over.
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) {
    return [...dropped.files].map((file) => ({ name: file.name, file }));
  }
  const found = await Promise.all(entries.map(walk));
  return found.flat().sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * @param {FileSystemEntry} entry
 * @returns {Promise<{name: string, file: File}[]>}
 */
async function walk(entry) {
  if (entry instanceof FileSystemFileEntry) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ name: entry.fullPath.replace(/^\//, ""), file }];
  }
  if (!(entry instanceof FileSystemDirectoryEntry)) {
    return [];
  }
  const reader = entry.createReader();
  const within = [];
  // A reader hands out a hundred entries at a time, and none when it is done.
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) {
      break;
    }
    within.push(...some);
  }
  return (await Promise.all(within.map(walk))).flat();
}

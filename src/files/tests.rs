use super::*;

#[test]
fn two_writers_of_one_file_write_it_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/file");
    let texts: Vec<Vec<u8>> = (0..8).map(|i| vec![b'a' + i; 100_000]).collect();
    std::thread::scope(|scope| {
        for text in &texts {
            scope.spawn(|| (0..10).for_each(|_| write_beside(&path, text).unwrap()));
        }
    });
    assert!(texts.contains(&fs::read(&path).unwrap()));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken");
    fs::create_dir(&taken).unwrap();
    assert_eq!(write_beside(&taken, b"x").unwrap_err().kind(), ErrorKind::IsADirectory);
    assert_eq!(write_new(&taken, b"x").unwrap_err().kind(), ErrorKind::AlreadyExists);
    drop(Temporary::file(folder.path()).unwrap());
    let begun = Temporary::folder(folder.path()).unwrap();
    fs::write(begun.path().join("half"), "half").unwrap();
    drop(begun);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_new_file_is_new_or_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    write_new(&path, b"first").unwrap();
    assert_eq!(write_new(&path, b"second").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"first");
    assert_eq!(fs::read_dir(folder.path().join("a")).unwrap().count(), 1);
}

#[test]
fn a_process_sees_no_file_of_its_own_as_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let begun = Temporary::file(folder.path()).unwrap();
    let also = Temporary::folder(&folder.path().join(".")).unwrap();
    assert!(begun.path().exists() && also.path().exists());
}

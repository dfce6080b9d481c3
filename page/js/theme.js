// Dark or light: as the system says, until the button is used; then the address says it.

import * as address from "./address.js";

/** @param {HTMLButtonElement} button */
export function theme(button) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const now = () => address.get("theme") ?? (dark.matches ? "dark" : "light");
  const show = () => {
    document.documentElement.dataset.theme = now();
    const other = now() === "dark" ? "light" : "dark";
    button.textContent = other === "dark" ? "Dark" : "Light";
    button.setAttribute("aria-label", `Show the page in ${other} colours`);
  };
  button.addEventListener("click", () => {
    const standard = dark.matches ? "dark" : "light";
    address.set("theme", now() === "dark" ? "light" : "dark", standard);
    show();
  });
  dark.addEventListener("change", show);
  address.onChange(show);
  show();
}

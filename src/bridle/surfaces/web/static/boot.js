// Sets the chosen theme before the first paint: a module would come too late.
try {
  const theme = localStorage.getItem("bridle.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // a browser that keeps nothing: the theme of the system holds
}

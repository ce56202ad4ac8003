/** A line of RFC 4180, with its line end. */
export const csvLine = (cells: readonly (string | number | boolean | null)[]): string =>
  `${cells.map((cell) => csvCell(cell === null ? '' : `${cell}`)).join(',')}\r\n`

/** The first characters that make a spreadsheet run a cell as a formula; some also take the wide ones. */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n]/

/** Quotes semicolons and tabs as well, because some spreadsheets split cells at them. */
function csvCell(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return /[",;\t\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

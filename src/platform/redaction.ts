const MAX_LENGTH = 300

/** Servers can quote what they were sent, so `hidden` parts are removed in upper and lower case; on one line. */
export function withoutParts(text: string, hidden: readonly string[]): string {
  const shown = hidden
    .filter((part) => part !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, part) => text.replaceAll(anyCaseOf(part), '[hidden]'), text)
  return [...shown.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()].slice(0, MAX_LENGTH).join('')
}

const anyCaseOf = (text: string) => new RegExp(RegExp.escape(text), 'giu')

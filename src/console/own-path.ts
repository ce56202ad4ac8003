/** A path of the console: `to` where it is one, as strangers may have written it, else the first page. */
export const ownPath = (to: string): string => (isOwnPath(to) ? to : '/console')

/** Whether an address is a path of the console, of the characters that its pages use, and nothing else. */
export const isOwnPath = (to: string): boolean =>
  /^\/console(\/[\w./?=&%+-]*|\?[\w./?=&%+-]*)?$/.test(to) && !to.includes('//') && staysIn(to)

/** Browsers go up for dots, however they are spelt, and beside us there may be another program. */
const staysIn = (to: string): boolean =>
  /^\/console(\/|$)/.test(new URL(to, 'http://localhost').pathname)

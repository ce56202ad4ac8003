/** Returns `to` if it is a path of the console, otherwise the overview. `to` is untrusted. */
export const ownPath = (to: string): string => (isOwnPath(to) ? to : '/console')

/** Whether an address is a path of the console with allowed characters only. */
export const isOwnPath = (to: string): boolean =>
  /^\/console(\/[\w./?=&%+-]*|\?[\w./?=&%+-]*)?$/.test(to) && !to.includes('//') && staysIn(to)

/** Browsers resolve dots, even encoded ones, which could lead to another app on the same host. */
const staysIn = (to: string): boolean =>
  /^\/console(\/|$)/.test(new URL(to, 'http://localhost').pathname)

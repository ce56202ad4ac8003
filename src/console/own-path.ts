/** A path of the console and nothing else: where somebody goes on is not for strangers to say. */
export const ownPath = (to: string): string =>
  /^\/console(\/[\w./?=&%+-]*|\?[\w./?=&%+-]*)?$/.test(to) && !to.includes('//') && staysIn(to)
    ? to
    : '/console'

/** Browsers go up for dots, however they are spelt, and beside us there may be another program. */
const staysIn = (to: string): boolean =>
  /^\/console(\/|$)/.test(new URL(to, 'http://localhost').pathname)

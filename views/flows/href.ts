const WEB = ['https:', 'http:']

/** The address if it is one of the web, absolute or on this server; `undefined` for all others. */
export function webAddress(url: string): string | undefined {
  const parsed = URL.parse(url, 'http://here.invalid')
  return parsed && WEB.includes(parsed.protocol) ? url : undefined
}

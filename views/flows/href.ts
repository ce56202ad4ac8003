const WEB = ['https:', 'http:']

/** The URL if it is http or https, absolute or on this server; otherwise `undefined`. */
export function webAddress(url: string): string | undefined {
  const parsed = URL.parse(url, 'http://here.invalid')
  return parsed && WEB.includes(parsed.protocol) ? url : undefined
}

import type { Dial } from './dial.ts'
import { CallFailure } from './failure.ts'

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const METHODS_WITHOUT_BODY = ['GET', 'HEAD', 'DELETE', 'OPTIONS']

/**
 * The bytes of a request, in one piece, so that it leaves in one segment where it fits. Headers keep
 * their case, order and repetitions. Throws `CallFailure` for a header that could end early.
 */
export function encodeRequest(dial: Dial): Buffer {
  const { url, method, body, reusesConnection } = dial
  const persistence = reusesConnection ? 'keep-alive' : 'close'
  const head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n${fields(dial)}Connection: ${persistence}\r\n\r\n`
  if (body === null || body.length === 0) return Buffer.from(head, 'latin1')
  const bytes = Buffer.allocUnsafe(head.length + body.length)
  bytes.write(head, 'latin1')
  bytes.set(body, head.length)
  return bytes
}

function fields({ headers, method, body }: Dial): string {
  let text = ''
  for (const [name, value] of headers) {
    if (!NAME.test(name) || !VALUE.test(value))
      throw new CallFailure('protocol', 'a header of the request is invalid')
    text += `${name}: ${value}\r\n`
  }
  if (body === null && METHODS_WITHOUT_BODY.includes(method)) return text
  return `${text}Content-Length: ${body?.length ?? 0}\r\n`
}

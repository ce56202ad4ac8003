import { randomBytes, randomInt } from 'node:crypto'
import { codingFor, encode } from './content-coding.ts'

/** Smaller pages fit into one packet anyway. */
const MIN_LENGTH = 1000

/**
 * Compresses a page for a browser. A comment of random length hides its exact size, because the size
 * would tell a listener whether text that an attacker put into the address also occurs elsewhere on the
 * page (BREACH). Data of APIs is sent as it is.
 */
export async function compressPage(request: Request, answer: Response): Promise<Response> {
  if (!answer.headers.get('content-type')?.startsWith('text/html')) return answer
  if (answer.body === null || isNegotiated(answer)) return answer
  const text = await answer.text()
  const headers = new Headers(answer.headers)
  headers.append('vary', 'accept-encoding')
  const coding = text.length < MIN_LENGTH ? undefined : codingFor(request)
  if (!coding) return new Response(text, { status: answer.status, headers })
  headers.set('content-encoding', coding)
  const body = await encode(text + padding(), coding, 'fast')
  return new Response(body, { status: answer.status, headers })
}

/** Whether the answer was made for what the client accepts, as static pages are. */
const isNegotiated = ({ headers }: Response): boolean =>
  headers.get('vary')?.includes('accept-encoding') ?? false

/** Requests that a page may answer. */
export const wantsPage = ({ headers }: Request): boolean =>
  headers.get('accept')?.includes('text/html') ?? false

const MAX_PADDING = 48

const padding = (): string => `<!-- ${randomBytes(randomInt(MAX_PADDING + 1)).toString('hex')} -->`

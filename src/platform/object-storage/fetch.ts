/** Time for the response to a request, which includes its body, except of an object. With a body to send, over a slow line. */
const MAX_MS = 30_000
const MAX_UPLOAD_MS = 10 * 60_000

/** An error response, with the code that S3 gives it, such as `AccessDenied`. */
export class RefusedByStorage extends Error {
  constructor(
    readonly status: number,
    readonly serviceCode: string,
  ) {
    super(`HTTP ${status}: ${serviceCode}`)
  }
}

/** Statuses that the client handles: a condition that isn't met. */
const HANDLED = [304, 412]

/**
 * `fetch` for the client: throws `RefusedByStorage` for an error response, and gives up on a server
 * that doesn't respond. Only the body of an object may take any time.
 */
export async function fetchFromStorage(url: string | URL | Request, init: RequestInit = {}) {
  const abort = new AbortController()
  const late = new DOMException('it does not respond', 'TimeoutError')
  const timer = setTimeout(() => abort.abort(late), init.body ? MAX_UPLOAD_MS : MAX_MS)
  try {
    const response = await fetch(url, { ...init, signal: abort.signal, redirect: 'manual' })
    if (HANDLED.includes(response.status)) return response
    if (response.ok) return isOfObject(url, init) ? response : await whole(response)
    const body = await response.text()
    const code = codeIn(body)
    if (isMissingKey(response.status, code)) return new Response(body, response)
    throw new RefusedByStorage(response.status, code)
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the response to a request is an object, or says how large it is. */
const isOfObject = (url: string | URL | Request, { method }: RequestInit) =>
  method === 'HEAD' || (method === 'GET' && !String(url).includes('?'))

const whole = async (response: Response) => new Response((await response.text()) || null, response)

/** Whether there is no object with that name; a missing bucket has a code of its own. */
export const isMissingKey = (status: number, code: string) =>
  status === 404 && (code === 'NoSuchKey' || code === UNKNOWN)

const UNKNOWN = 'unknown'

/** The code in the XML of an error; responses to HEAD have none. */
const codeIn = (body: string): string => /<Code>(\w{1,100})<\/Code>/.exec(body)?.[1] ?? UNKNOWN

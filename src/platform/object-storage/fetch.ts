/** How long a storage may take to respond. */
export interface Patience {
  /** For the response to a request, which includes its body, except of an object. */
  responseMs: number
  /** The same for a request with a body to send, over a slow line. */
  uploadMs: number
  /** Whether the bodies of objects, which are small, count as well. */
  isForWhole?: boolean
}

/** For objects of any size. */
export const PATIENT: Patience = { responseMs: 30_000, uploadMs: 10 * 60_000 }

/** For small objects that have to be read and written within some milliseconds. */
export const within = (ms: number): Patience => ({
  ...{ responseMs: ms, uploadMs: ms, isForWhole: true },
})

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
export const fetchWith =
  ({ responseMs, uploadMs, isForWhole = false }: Patience) =>
  async (url: string | URL | Request, init: RequestInit = {}) => {
    const abort = new AbortController()
    const late = new DOMException('it does not respond', 'TimeoutError')
    const timer = setTimeout(() => abort.abort(late), init.body ? uploadMs : responseMs)
    try {
      const response = await fetch(url, { ...init, signal: abort.signal, redirect: 'manual' })
      if (HANDLED.includes(response.status)) return response
      if (response.ok)
        return isOfObject(url, init) && !isForWhole ? response : await whole(response)
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

async function whole(response: Response): Promise<Response> {
  const body = await response.arrayBuffer()
  return new Response(body.byteLength > 0 ? body : null, response)
}

/** Whether there is no object with that name; a missing bucket has a code of its own. */
export const isMissingKey = (status: number, code: string) =>
  status === 404 && (code === 'NoSuchKey' || code === UNKNOWN)

const UNKNOWN = 'unknown'

/** The code in the XML of an error; responses to HEAD have none. */
const codeIn = (body: string): string => /<Code>(\w{1,100})<\/Code>/.exec(body)?.[1] ?? UNKNOWN

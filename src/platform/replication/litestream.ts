import { AppError, unavailable } from '../errors.ts'

/** Beyond the timeout that Litestream is given, so that it answers first. */
const MARGIN_MS = 2000

/**
 * Asks the Litestream on a control socket to upload everything that was committed to `file` before the
 * call. Resolves once it has, with the number of the last transaction there; rejects with an
 * `AppError` otherwise. One call at a time is enough: the server carries out calls one after the other.
 */
export async function syncWithLitestream(parts: {
  socket: string
  file: string
  timeoutMs: number
}): Promise<{ replicated_txid?: number }> {
  const { socket, file, timeoutMs } = parts
  const timeout = Math.ceil(timeoutMs / 1000)
  try {
    const response = await fetch('http://litestream/sync', {
      unix: socket,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ path: file, wait: true, timeout }),
      signal: AbortSignal.timeout(timeoutMs + MARGIN_MS),
    })
    const text = await response.text()
    if (!response.ok) throw refused(response.status, text, file)
    return JSON.parse(text)
  } catch (error) {
    throw error instanceof AppError ? error : unavailable(`Litestream does not answer on ${socket}`)
  }
}

/** Whether the Litestream on a control socket answers anything. */
export const answersOn = (socket: string, timeoutMs: number): Promise<boolean> =>
  fetch('http://litestream/info', { unix: socket, signal: AbortSignal.timeout(timeoutMs) }).then(
    () => true,
    () => false,
  )

function refused(status: number, text: string, file: string): AppError {
  if (status === 404) return unavailable(`Litestream has no database ${file} in its configuration`)
  return unavailable(`Litestream cannot upload: HTTP ${status}, ${reasonIn(text)}`)
}

/** One line, as logs and pages show it. */
const reasonIn = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').trim().slice(0, 300) || 'no reason'

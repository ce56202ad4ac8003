import type { Request } from './kinds.ts'

export interface Answer {
  status: number
  /** The object in the body; empty if there is none. */
  body: Record<string, unknown>
}

/** Sends a request to a server. Throws if there is no answer. */
export async function send(url: string, request: Request, signal: AbortSignal): Promise<Answer> {
  const { path, apiKey, body } = request
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
      ...(typeof body === 'object' && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal,
  })
  return { status: response.status, body: objectIn(await response.text()) }
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

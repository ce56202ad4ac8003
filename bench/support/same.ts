import type { Server } from './server.ts'

/** Throws unless both give the same answer: else it would not be the same work. */
export async function requireSame(
  subject: Server,
  floor: Server,
  path: string,
  request: RequestInit,
): Promise<void> {
  const [ours, theirs] = await Promise.all(
    [subject, floor].map(async ({ url }) => (await fetch(url + path, request)).json()),
  )
  if (!Bun.deepEquals(ours, theirs))
    throw new Error(`${JSON.stringify(ours)} is not ${JSON.stringify(theirs)}`)
}

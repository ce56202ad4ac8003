import { type Coding, codingFor, encode } from './content-coding.ts'
import { isKnown, tagOf } from './entity-tag.ts'

export type StaticContent = ReturnType<typeof createStaticContent>

/** Text that every client gets, such as a style sheet. Compressed once per coding, when first asked for. */
export function createStaticContent(type: string, text: () => string) {
  const compressed = new Map<Coding, Promise<Uint8Array<ArrayBuffer>>>()
  let known: { text: string; tag: string } | undefined

  function read() {
    if (known) return known
    const made = text()
    known = { text: made, tag: tagOf(made) }
    return known
  }

  function encoded(coding: Coding): Promise<Uint8Array<ArrayBuffer>> {
    const found = compressed.get(coding)
    if (found) return found
    const made = encode(read().text, coding, 'small')
    compressed.set(coding, made)
    // The next client tries again.
    made.catch(() => compressed.delete(coding))
    return made
  }

  /** 200, or 304 for a client that has it. `headers` are added to either. */
  return async function answer(
    request: Request,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const coding = codingFor(request)
    const tag = read().tag.replace(/"$/, `${coding ? `-${coding}` : ''}"`)
    const shared = { ...headers, etag: tag, vary: 'accept-encoding' }
    if (isKnown(request, tag)) return new Response(null, { status: 304, headers: shared })
    return new Response(coding ? await encoded(coding) : read().text, {
      headers: { ...shared, 'content-type': type, ...(coding && { 'content-encoding': coding }) },
    })
  }
}

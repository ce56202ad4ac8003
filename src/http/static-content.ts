import { type Coding, codingFor, encode } from './content-coding.ts'
import { isKnown, tagOf } from './entity-tag.ts'

export type StaticContent = ReturnType<typeof createStaticContent>

type Content = string | Uint8Array<ArrayBuffer>

/**
 * Content that every client gets, such as a style sheet. Text is compressed once per coding, when
 * first asked for; bytes, such as a font, are compressed already.
 */
export function createStaticContent(type: string, make: () => Content) {
  const compressed = new Map<Coding, Promise<Uint8Array<ArrayBuffer>>>()
  let known: { content: Content; tag: string } | undefined

  function read() {
    if (known) return known
    const content = make()
    known = { content, tag: tagOf(content) }
    return known
  }

  function encoded(text: string, coding: Coding): Promise<Uint8Array<ArrayBuffer>> {
    const found = compressed.get(coding)
    if (found) return found
    const made = encode(text, coding, 'small')
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
    const { content, tag: plainTag } = read()
    const coding = typeof content === 'string' ? codingFor(request) : undefined
    const tag = plainTag.replace(/"$/, `${coding ? `-${coding}` : ''}"`)
    const shared = { ...headers, etag: tag, vary: 'accept-encoding' }
    if (isKnown(request, tag)) return new Response(null, { status: 304, headers: shared })
    const body = coding && typeof content === 'string' ? await encoded(content, coding) : content
    return new Response(body, {
      headers: { ...shared, 'content-type': type, ...(coding && { 'content-encoding': coding }) },
    })
  }
}

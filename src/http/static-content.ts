import { late } from '../db/statements.ts'
import { type Coding, codingFor, encode } from './content-coding.ts'
import { isKnown, tagOf } from './entity-tag.ts'

export type StaticContent = ReturnType<typeof createStaticContent>

type Content = string | Uint8Array<ArrayBuffer>

/** For an address whose content can change: browsers keep it, but ask whether it has. */
export const CHECKED = { 'cache-control': 'no-cache' }

/**
 * Content that every client gets, such as a style sheet. Text is compressed once per coding, when
 * first asked for; bytes, such as a font, are compressed already.
 */
export function createStaticContent(type: string, make: () => Content | Promise<Content>) {
  const compressed = new Map<Coding, Promise<Uint8Array<ArrayBuffer>>>()
  const read = late(async () => {
    const content = await make()
    return { content, tag: tagOf(content) }
  })

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
    const { content, tag: plainTag } = await read()
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

import { Elysia } from 'elysia'
import { htmlAnswer, htmlText } from '../../views/html.ts'
import { ReferencePage } from '../../views/reference.tsx'
import type { ApiDocument } from '../http/openapi.ts'
import { PAGE_CONTENT_POLICY } from '../http/security-headers.ts'
import { notFound } from '../platform/errors.ts'
import { ASSETS } from './assets.ts'

const ASSET_CACHE = 'public, max-age=300'

/** Pages for people: now the API reference, later the console. */
export function createConsole({
  document,
  base,
}: {
  document: () => ApiDocument
  base: () => string
}) {
  // Both are large, never change, and are there for everybody who asks.
  const openApi = once(() => JSON.stringify(document()))
  const reference = once(() => htmlText(ReferencePage({ document: document() })))

  return new Elysia({ name: 'console' })
    .get('/', ({ redirect }) => redirect(`${base()}/console`), { detail: { hide: true } })
    .get(
      '/openapi.json',
      ({ set }) => {
        set.headers['content-type'] = 'application/json'
        return openApi()
      },
      {
        detail: { summary: 'This API as an OpenAPI document', tags: ['operations'] },
      },
    )
    .get('/reference', () => htmlAnswer(reference(), PAGE_CONTENT_POLICY), {
      detail: { hide: true },
    })
    .get(
      '/assets/:file',
      ({ params, set }) => {
        const asset = ASSETS[params.file]
        if (!asset || !Object.hasOwn(ASSETS, params.file)) throw notFound('file not found')
        set.headers['content-type'] = asset.type
        set.headers['cache-control'] = ASSET_CACHE
        return asset.text
      },
      { detail: { hide: true } },
    )
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

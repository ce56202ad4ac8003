import { Elysia } from 'elysia'
import { htmlAnswer, htmlText } from '../../views/html.ts'
import { ReferencePage } from '../../views/reference.tsx'
import type { ApiDocument } from '../http/openapi.ts'
import { PAGE_CONTENT_POLICY } from '../http/security-headers.ts'
import { notFound } from '../platform/errors.ts'
import { ASSETS } from './assets.ts'

const ASSET_CACHE = 'public, max-age=300'

/** API reference, OpenAPI document and assets. */
export function createConsole({
  document,
  base,
}: {
  document: () => ApiDocument
  base: () => string
}) {
  // Cached, because both are large and never change.
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
      { detail: { summary: 'Get the OpenAPI document', tags: ['operations'] } },
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

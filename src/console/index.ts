import { Elysia } from 'elysia'
import { htmlPage } from '../../views/html.ts'
import { ReferencePage } from '../../views/reference.tsx'
import type { ApiDocument } from '../http/openapi.ts'
import { PAGE_CONTENT_POLICY } from '../http/security-headers.ts'
import { notFound } from '../platform/errors.ts'
import { ASSETS } from './assets.ts'

const ASSET_CACHE = 'public, max-age=300'

/** Pages for people: now the API reference, later the console. */
export const createConsole = (document: () => ApiDocument) =>
  new Elysia({ name: 'console' })
    .get('/', ({ redirect }) => redirect('/reference'), { detail: { hide: true } })
    .get('/openapi.json', () => document(), {
      detail: { summary: 'This API as an OpenAPI document', tags: ['operations'] },
    })
    .get(
      '/reference',
      () => htmlPage(ReferencePage({ document: document() }), PAGE_CONTENT_POLICY),
      { detail: { hide: true } },
    )
    .get(
      '/assets/:file',
      ({ params, set }) => {
        const asset = ASSETS[params.file]
        if (!asset || !Object.hasOwn(ASSETS, params.file)) throw notFound('no such file')
        set.headers['content-type'] = asset.type
        set.headers['cache-control'] = ASSET_CACHE
        return asset.text
      },
      { detail: { hide: true } },
    )

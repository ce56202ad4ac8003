import { Elysia } from 'elysia'
import { accentSheet, accentVersion } from '../platform/branding/addresses.ts'
import { isColor } from '../platform/branding/contrast.ts'
import type { Branding } from '../platform/branding/index.ts'
import { fail, notFound } from '../platform/errors.ts'

const FOREVER = 'public, max-age=31536000, immutable'

/**
 * Logos and accent colors of sign-in pages, for browsers of any origin. An uploaded image is served
 * with the type that was read from it and in a sandbox, so that it is never anything but an image.
 */
export const brandingFiles = ({ branding }: { branding: Pick<Branding, 'imageOf'> }) =>
  new Elysia({ name: 'branding files', prefix: '/public', detail: { hide: true } })
    .get('/branding/:tenant_id/:hash', ({ params }) => {
      const image = branding.imageOf(params.tenant_id, params.hash)
      const { type, bytes } = image ?? fail(notFound('logo not found'))
      return new Response(bytes, {
        headers: {
          'content-type': type,
          'content-security-policy': "default-src 'none'; sandbox",
          'cross-origin-resource-policy': 'cross-origin',
          'cache-control': FOREVER,
        },
      })
    })
    .get('/accents/:version/:file', ({ params: { version, file } }) => {
      const accent = `#${file.replace(/\.css$/, '')}`
      if (!file.endsWith('.css') || !isColor(accent)) throw notFound('file not found')
      return new Response(accentSheet(accent), {
        headers: {
          'content-type': 'text/css; charset=utf-8',
          'cache-control': version === accentVersion(accent) ? FOREVER : 'no-cache',
        },
      })
    })

import { ASSETS } from '../../src/console/assets.ts'
import { PAGE_CONTENT_POLICY } from '../../src/http/security-headers.ts'
import { htmlPage } from '../../views/html.ts'
import { delivery } from '../views/console/gallery/delivery.tsx'
import { endpoints } from '../views/console/gallery/endpoints.tsx'
import { overview } from '../views/console/gallery/overview.tsx'
import { detail, empty, form, secret, setup } from '../views/console/gallery/parts.tsx'

/** Pages that show every part of the console, with data as it comes. */
export const GALLERY = { overview, endpoints, delivery, detail, form, empty, secret, setup }

export type GalleryPage = keyof typeof GALLERY

const isPage = (name: string): name is GalleryPage => Object.hasOwn(GALLERY, name)

/** Serves the gallery under the policy of the console. `posted` are the forms that came in. */
export function serveGallery() {
  const posted: { path: string; fields: Record<string, string> }[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (request.method === 'POST') {
        const fields = Object.fromEntries(new URLSearchParams(await request.text()))
        posted.push({ path: pathname, fields })
        return new Response(null, { status: 204 })
      }
      const asset = ASSETS[pathname.replace('/assets/', '')]
      if (asset) return new Response(asset.text, { headers: { 'content-type': asset.type } })
      const name = pathname === '/console/find' ? 'empty' : pathname.slice(1)
      if (!isPage(name)) return new Response('no such page', { status: 404 })
      return htmlPage(GALLERY[name](), PAGE_CONTENT_POLICY)
    },
  })
  return {
    posted,
    url: (page: GalleryPage) => `http://127.0.0.1:${server.port}/${page}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

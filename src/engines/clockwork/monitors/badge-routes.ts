import { Elysia, t } from 'elysia'
import { isMinted } from '../../../platform/crypto.ts'
import { UNSAFE_IN_NAME } from '../../../platform/unsafe-characters.ts'
import { badgeOf, MAX_LABEL_LENGTH } from './badge.ts'
import type { Store } from './store.ts'

const FILE = /^(\w+)\.svg$/

const HEADERS = {
  'content-type': 'image/svg+xml; charset=utf-8',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'public, max-age=30',
}

/** Badges for pages of any origin. Their token opens nothing else, and they show nothing but the state. */
export function createBadgeRoutes(parts: {
  store: Store
  addressOf: (request: Request) => string | undefined
  refuseUnknown: (address: string | undefined) => never
}) {
  const { store, addressOf, refuseUnknown } = parts

  return new Elysia({ name: 'badges', prefix: '/badge', detail: { hide: true } }).get(
    '/:file',
    ({ request, params, query }) => {
      const [, token = ''] = FILE.exec(params.file) ?? []
      const monitor = isMinted(token) ? store.monitors.byBadge(token) : undefined
      const { state } = monitor ?? refuseUnknown(addressOf(request))
      return new Response(badgeOf(state, labelIn(query.label)), { headers: HEADERS })
    },
    { query: t.Object({ label: t.Optional(t.String()) }, { additionalProperties: true }) },
  )
}

const labelIn = (text = ''): string =>
  [...text.replaceAll(UNSAFE_IN_NAME, '').trim()].slice(0, MAX_LABEL_LENGTH).join('')

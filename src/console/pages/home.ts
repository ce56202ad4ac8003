import { Elysia } from 'elysia'
import {
  InstallationPage,
  NowherePage,
  OverviewPage,
} from '../../../views/console/pages/overview.tsx'
import type { Keys } from '../../platform/keys.ts'
import type { Metering } from '../../platform/metering/index.ts'
import type { Frames } from '../frame.ts'
import type { ConsoleKit } from '../kit.ts'
import { may } from '../operators/rights.ts'
import type { Visitor } from '../operators/visitors.ts'

/** Where everybody arrives, wherever they act. */
export function homePage(parts: {
  kit: ConsoleKit
  frames: Frames
  keys: Keys
  metering: Metering
  baseUrl: () => string
  name: string
}) {
  const { kit, frames, keys, metering, baseUrl, name } = parts

  async function home({ visitor, request }: { visitor: Visitor; request: Request }) {
    const { place, memberships } = visitor
    const common = { request, visitor, title: 'Overview' }
    if (place?.kind === 'instance')
      return frames.page({ ...common, children: InstallationPage({ base: frames.base(), name }) })
    if (!place)
      return frames.page({
        ...common,
        children: NowherePage({ base: frames.base(), hasOthers: memberships.length > 0 }),
      })
    const children = OverviewPage({
      base: frames.base(),
      apiUrl: baseUrl(),
      tenantName: place.name,
      usage: await metering.usageOf(place.tenantId),
      hasKey: keys.list(place.tenantId).some((key) => key.revoked_at === null),
      mayMakeKeys: may(place.role, 'keys'),
    })
    return frames.page({ ...common, active: 'overview', children })
  }

  return new Elysia({ name: 'home page', detail: { hide: true } })
    .use(kit)
    .get('/console', home, { operator: true })
}

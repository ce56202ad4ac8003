import { Elysia } from 'elysia'
import { HealthPage } from '../../../../views/console/pages/admin/health.tsx'
import type { Frames } from '../../frame.ts'
import { createInstanceHealth } from '../../instance-health.ts'
import type { ConsoleKit } from '../../kit.ts'

/** Whether the installation does what it is there for, and what it stands on. */
export function healthPage(
  parts: { kit: ConsoleKit; frames: Frames } & Parameters<typeof createInstanceHealth>[0],
) {
  const { kit, frames } = parts
  const health = createInstanceHealth(parts)
  return new Elysia({ name: 'health page', detail: { hide: true } }).use(kit).get(
    '/console/admin/health',
    ({ request, visitor }) => {
      const children = HealthPage({ base: frames.base(), health: health.look() })
      return frames.page({ request, visitor, title: 'Health', active: 'health', children })
    },
    { instance: true },
  )
}

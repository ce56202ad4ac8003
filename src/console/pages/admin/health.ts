import { Elysia } from 'elysia'
import { HealthPage } from '../../../../views/console/pages/admin/health.tsx'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Backups } from '../../../platform/backup/index.ts'
import { SYSTEM_TENANT_ID } from '../../../platform/system-tenant.ts'
import type { Frames } from '../../frame.ts'
import { createInstanceHealth } from '../../instance-health.ts'
import type { ConsoleKit, OperatorVisit } from '../../kit.ts'

const PATH = '/console/admin/health'

/** Health of the installation: problems, queues, storage, email and backups. */
export function healthPage(
  parts: {
    kit: ConsoleKit
    frames: Frames
    audit: Audit
    backups: Pick<Backups, 'makeNow'>
  } & Parameters<typeof createInstanceHealth>[0],
) {
  const { kit, frames, audit, backups } = parts
  const health = createInstanceHealth(parts)

  /** Starts a backup, which can take minutes. The page shows its progress. */
  async function backUp({ actor }: OperatorVisit): Promise<Response> {
    await backups.makeNow((file) => {
      const action = 'backup.asked_for'
      audit.record({ tenantId: SYSTEM_TENANT_ID, actor, action, object: `backup:${file}` })
    })
    return frames.go(`${PATH}?done=begun`)
  }

  return new Elysia({ name: 'health page', prefix: PATH, detail: { hide: true } })
    .use(kit)
    .get(
      '',
      ({ request, visitor, query }) => {
        const children = HealthPage({ base: frames.base(), health: health.look() })
        const flash = query.done === 'begun' ? BEGUN : undefined
        return frames.page({ request, visitor, title: 'Health', active: 'health', flash, children })
      },
      { instance: true },
    )
    .post('/back-up', (visit) => backUp(visit), { instance: true })
}

const BEGUN = { tone: 'good', text: 'Backup started.' } as const

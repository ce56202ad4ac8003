import { Elysia } from 'elysia'
import { HealthPage } from '../../../../views/console/pages/admin/health.tsx'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Backups } from '../../../platform/backup/index.ts'
import { createInstanceHealth } from '../../instance-health.ts'
import type { Layout } from '../../layout.ts'
import type { ConsoleMiddleware, OperatorContext } from '../../middleware.ts'

const PATH = '/console/admin/health'

/** Health of the installation: problems, queues, storage, email and backups. */
export function healthPage(
  parts: {
    middleware: ConsoleMiddleware
    layout: Layout
    audit: Audit
    backups: Pick<Backups, 'makeNow'>
  } & Parameters<typeof createInstanceHealth>[0],
) {
  const { middleware, layout, audit, backups } = parts
  const health = createInstanceHealth(parts)

  /** Starts a backup, which can take minutes. The page shows its progress. */
  async function backUp({ actor }: OperatorContext): Promise<Response> {
    await backups.makeNow((file) => {
      const action = 'backup.asked_for'
      audit.recordForOperators({ actor, action, object: `backup:${file}` })
    })
    return layout.go(`${PATH}?done=begun`)
  }

  return new Elysia({ name: 'health page', prefix: PATH, detail: { hide: true } })
    .use(middleware)
    .get(
      '',
      ({ request, operator, query }) => {
        const children = HealthPage({ base: layout.base(), health: health.read() })
        const flash = query.done === 'begun' ? BEGUN : undefined
        return layout.page({
          request,
          operator,
          title: 'Health',
          active: 'health',
          flash,
          children,
        })
      },
      { instance: true },
    )
    .post('/back-up', (context) => backUp(context), { instance: true })
}

const BEGUN = { tone: 'good', text: 'Backup started.' } as const

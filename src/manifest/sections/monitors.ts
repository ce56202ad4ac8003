import { t } from 'elysia'
import { USUAL_GRACE_SECONDS } from '../../engines/clockwork/monitors/limits.ts'
import { NewMonitor } from '../../engines/clockwork/monitors/model.ts'
import type { Monitors } from '../../engines/clockwork/monitors/monitors.ts'
import { collection } from '../section.ts'

const DEFAULTS = {
  period_seconds: null,
  schedule: null,
  time_zone: 'UTC',
  grace_seconds: USUAL_GRACE_SECONDS,
  tags: [],
  notes: '',
} satisfies Partial<NewMonitor>

/** Heartbeat monitors. A new one has a new ping URL. */
export const monitorsSection = (monitors: Monitors) =>
  collection<NewMonitor>({
    name: 'monitors',
    noun: 'monitor',
    key: 'name',
    schema: t.Object(NewMonitor.properties, { additionalProperties: false }),
    defaultsOf: () => DEFAULTS,
    list: (caller) => monitors.list(caller).map((item) => ({ id: item.id, item })),
    create: (caller, monitor) => monitors.create(caller, monitor),
    update: (caller, id, change) => monitors.update(caller, id, change),
    remove: (caller, id) => monitors.remove(caller, id),
  })

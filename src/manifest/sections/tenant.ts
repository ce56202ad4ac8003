import { t } from 'elysia'
import type { Tenants } from '../../platform/tenants.ts'
import { UTC } from '../../platform/time-zone.ts'
import { setting } from '../section.ts'

const Tenant = t.Object(
  {
    time_zone: t.Optional(
      t.String({
        expected: 'a time zone such as Europe/Berlin',
        description: 'Zone of the times in the console.',
        examples: ['Europe/Berlin'],
      }),
    ),
  },
  { additionalProperties: false },
)

/** What a tenant may decide about itself. Its name, plan and spend cap belong to the installation. */
export const tenantSection = (tenants: Tenants) =>
  setting({
    name: 'tenant',
    schema: Tenant,
    defaults: { time_zone: UTC },
    read: ({ tenantId }) => ({ time_zone: tenants.timeZoneOf(tenantId) }),
    write: ({ tenantId, actor }, { time_zone: timeZone }) =>
      tenants.change(actor, tenantId, { timeZone }),
  })

import type { Page } from '../../page.tsx'
import { configurationPage } from './configuration.tsx'
import { emailPage } from './email.tsx'
import { healthPage } from './health.tsx'
import { operatorPage } from './operator.tsx'
import { operatorList } from './operators.tsx'
import { outboxPage } from './outbox.tsx'
import { tenantPage } from './tenant.tsx'
import { newTenant } from './tenant-form.tsx'
import { tenantList } from './tenants.tsx'

export const installationPages: readonly Page[] = [
  tenantList,
  newTenant,
  tenantPage,
  operatorList,
  operatorPage,
  healthPage,
  outboxPage,
  emailPage,
  configurationPage,
]

import type { Config } from '../config/index.ts'
import type { Notifications } from '../engines/notifications/index.ts'
import type { Actor } from '../platform/audit/index.ts'
import { withApplication } from './application.ts'
import { type Invocation, type Io, type Option, UsageError } from './command.ts'

/** The options that say whose channels and alerts a command is about. */
export const OWNER: Record<string, Option> = {
  tenant: { type: 'string', value: 'ID', help: 'The tenant. Required without --installation.' },
  installation: { type: 'boolean', help: 'Instead of a tenant: the installation.' },
}

/** What a command does for a tenant, or for the installation for null. */
type Work<T> = (notifications: Notifications, owner: string | null, actor: Actor) => T | Promise<T>

/** Runs `work` for the tenant, or the installation, that the options name. A running server sends its emails. */
export function withNotifications<T>(
  { config, io, options }: { config: Config; io: Io; options: Invocation['options'] },
  work: Work<T>,
): Promise<T> {
  const owner = ownerIn(options)
  return withApplication(config, io, async ({ gatehouse, platform, actor }) => {
    if (owner !== null) platform.tenants.find(owner)
    return await work(gatehouse.notifications, owner, actor)
  })
}

function ownerIn({ tenant, installation }: Invocation['options']): string | null {
  if ((tenant === undefined) === (installation === undefined))
    throw new UsageError('use either --tenant ID or --installation')
  return tenant === undefined ? null : `${tenant}`
}

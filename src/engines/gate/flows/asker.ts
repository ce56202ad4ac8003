import { addressKey } from '../../../platform/address-key.ts'
import type { Asker } from '../passwords/index.ts'
import type { Client } from './client.ts'

/** Who has a password looked at. Behind a server with a key there are many people, and no address. */
export const askerOf = (
  { tenantId }: { tenantId: string },
  { hasKey, ipAddress }: Client,
): Asker => ({ tenantId, client: hasKey ? undefined : addressKey(ipAddress ?? undefined) })

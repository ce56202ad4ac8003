import { addressKey } from '../../../../platform/address-key.ts'
import type { Asker } from '../../credentials/passwords/index.ts'
import type { Client } from './client.ts'

/**
 * The party that a password check is attributed to. A server with a key represents many users, so
 * no IP address counts.
 */
export const askerOf = (
  { tenantId }: { tenantId: string },
  { hasKey, ipAddress }: Client,
): Asker => ({ tenantId, client: hasKey ? undefined : addressKey(ipAddress ?? undefined) })

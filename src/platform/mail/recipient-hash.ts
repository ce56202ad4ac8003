import type { Sealing } from '../sealing/index.ts'

export type RecipientHash = ReturnType<typeof createRecipientHash>

const SEALED = 'mail recipients'

/**
 * What stands for an address when mails to it are counted, another for each tenant and for the
 * instance (null). It outlives the address: who has only the database cannot find out whose it is.
 */
export const createRecipientHash =
  (sealing: Sealing) =>
  (tenantId: string | null, recipient: string): string =>
    sealing.fingerprint(SEALED, JSON.stringify([tenantId, recipient]))

import type { Db } from '../../../db/open.ts'
import { createAdminStore } from './admins.ts'
import { createInvitationStore } from './invitations.ts'
import { createLinkStore } from './links.ts'
import { createMembershipStore } from './memberships.ts'
import { createPlaceStore } from './places.ts'

export type OperatorStore = ReturnType<typeof createOperatorStore>

/** All SQL on who operates what. */
export const createOperatorStore = (db: Db) => ({
  ...createMembershipStore(db),
  ...createAdminStore(db),
  ...createPlaceStore(db),
  ...createInvitationStore(db),
  ...createLinkStore(db),
})

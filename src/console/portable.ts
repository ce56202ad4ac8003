import type { Portable } from '../platform/portable/table.ts'

/** Exports contain no console data: members must be added again after an import. */
export const portable: Portable = {
  tables: [],
  leftOut: {
    console_memberships: 'operators belong to the installation',
    console_admins: 'belongs to the installation',
    console_places: 'belongs to sessions, which are not exported',
    console_invitations: 'links that lead to this installation',
    console_links: 'belongs to the installation',
    console_checklists: 'belongs to the first steps in this installation',
  },
}

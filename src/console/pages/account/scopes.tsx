import { LAYOUT_PATHS } from '../../../../views/layout/navigation.ts'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { MembershipRow } from '../../operators/memberships.ts'
import { usePage } from '../../page.tsx'

/** The tenants of the operator, and the installation for an admin, with a button to switch to each. */
export function Scopes() {
  const { memberships, isAdmin, scope } = usePage().operator
  return (
    <DataTable
      caption="Tenants that you have access to"
      columns={columnsWith(scope?.kind === 'tenant' ? scope.tenantId : scope?.kind)}
      rows={scopesOf(memberships, isAdmin)}
      idOf={({ id }) => id}
      empty={
        <EmptyState
          icon="team"
          sentence="You're not on a team yet"
          next="Ask an owner of a team to invite you."
        />
      }
    />
  )
}

interface ScopeRow {
  /** ID for the tenant switcher. */
  id: string
  name: string
  role: string
}

const scopesOf = (memberships: readonly MembershipRow[], isAdmin: boolean): ScopeRow[] => [
  ...memberships.map(({ tenantId: id, tenantName: name, role }) => ({ id, name, role })),
  ...(isAdmin ? [{ id: 'installation', name: 'Installation', role: 'admin' }] : []),
]

const columnsWith = (current: string | undefined): Column<ScopeRow>[] => [
  { label: 'Tenant', isWide: true, cell: ({ name }) => <Text text={name} limit={64} /> },
  { label: 'Role', cell: ({ role }) => capitalized(role) },
  {
    label: 'Action',
    align: 'right',
    narrow: 'bare',
    cell: ({ id, name }) =>
      id === (current === 'instance' ? 'installation' : current) ? (
        <StatusBadge tone="good" word="current" />
      ) : (
        <ActionButton isSmall action={usePage().href(LAYOUT_PATHS.switchScope)} fields={{ to: id }}>
          Switch
          <span class="unseen">
            {' '}
            to <Text text={name} limit={48} />
          </span>
        </ActionButton>
      ),
  },
]

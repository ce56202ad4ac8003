import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { DataTable } from '../../../../views/ui/table.tsx'
import { checkAll, trimmedText } from '../../form.ts'
import { useList } from '../../list.tsx'
import { page, shown, usePage } from '../../page.tsx'
import { editKeyOf } from '../workspace/edit-key.tsx'
import { IssuedKeyPage } from '../workspace/issued-key.tsx'
import { keyPageOf } from '../workspace/key.tsx'
import { ExpiryField, expiryIn, KEY_FIELDS, NameAndNote, nameIn } from '../workspace/key-fields.tsx'
import { OF_INSTALLATION } from '../workspace/key-owner.ts'
import { keyColumns, SORTS, scopesLabel } from '../workspace/keys.tsx'
import { requireChoice, ScopesField, scopesField, scopesIn } from '../workspace/new-key.tsx'

const ON_A_PAGE = 50

/** The keys for the API of the installation. */
export const installationKeyList = page({
  path: '/keys',
  section: 'keys',
  right: 'admin',
  title: 'API keys',

  load(context) {
    const { keys, query, position } = context
    const found = keys.page(null, {
      ...{ cursor: position.cursor, limit: ON_A_PAGE },
      ...sortingIn(query.sort, SORTS),
    })
    return { found, names: OF_INSTALLATION.namesFor(context, found.data) }
  },

  view({ found, names }) {
    const { href, query } = usePage()
    const { pagesTo, sortedBy } = useList()
    const action = (
      <LinkButton weight="primary" href={href('/keys/new')}>
        Create key
      </LinkButton>
    )
    return (
      <>
        <PageHead
          title="API keys"
          state={{ sentence: 'For scripts that manage tenants, their API keys and operators.' }}
          action={found.data.length > 0 && action}
        />
        <DataTable
          caption="API keys"
          columns={keyColumns(names, { label: 'Scopes', cell: (key) => <>{scopesLabel(key)}</> })}
          rows={found.data}
          hrefOf={({ id }) => href(`/keys/${id}`)}
          idOf={({ id }) => id}
          changedId={query.changed}
          pages={pagesTo(found.next_cursor)}
          sorting={sortedBy(SORTS)}
          empty={
            <EmptyState
              icon="keys"
              sentence="No API keys yet"
              next="With a key of the installation, Ansible or a script can manage tenants and operators. It can do what admins can, so keep it secret."
              action={action}
            />
          }
        />
      </>
    )
  },
})

const SCOPES = scopesField('installation')

/** The form of a new key of the installation. */
export const newInstallationKey = page({
  path: '/keys/new',
  section: 'keys',
  right: 'admin',
  title: 'New API key',

  load: () => ({}),

  view: () => (
    <>
      <PageHead
        title="New API key"
        state={{ sentence: 'The key is shown once and works immediately.' }}
      />
      <PageForm action="" buttons={<Button weight="primary">Create key</Button>} cancel="/keys">
        <NameAndNote />
        <ScopesField of="installation" label="Scopes" />
        <ExpiryField />
      </PageForm>
    </>
  ),

  actions: {
    '': {
      right: 'admin',
      form: { ...KEY_FIELDS, [SCOPES]: SCOPES },
      /** Shows the key in the response to the form, because it is not stored. */
      async run(context) {
        const { keys, actor, fields } = context
        const scopes = scopesIn(fields, 'installation')
        checkAll([
          () => nameIn(context),
          () => requireChoice(SCOPES, scopes),
          () => expiryIn(context),
        ])
        const issued = await keys.issueForInstallation(actor, {
          ...{ name: nameIn(context), note: trimmedText(fields, 'note'), scopes: [...scopes] },
          expiry: expiryIn(context) ?? undefined,
        })
        return shown('New API key', <IssuedKeyPage issued={issued} />)
      },
    },
  },
})

export const installationKey = keyPageOf(OF_INSTALLATION)

export const editInstallationKey = editKeyOf(OF_INSTALLATION)

import { Marked } from '../../../../views/provider-marks.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import {
  type AnyProvider,
  type Config,
  OPERATOR_PROVIDERS,
  PROVIDERS,
} from '../../../config/index.ts'
import { providerName } from '../../../engines/gate/sign-in/flows/ui/providers.ts'
import type { InstallationSettings } from '../../../platform/installation-settings/index.ts'
import { page, usePage } from '../../page.tsx'
import { missingOf } from '../users/provider.tsx'

/** A provider as the installation has it. */
interface ProviderRow {
  id: AnyProvider
  name: string
  source: ReturnType<InstallationSettings['sourceOf']>
  isComplete: boolean
  clientId: string | undefined
}

/** Social login providers of the installation, for users of tenants and for operators. */
export const installationProviders = page({
  path: '/providers',
  section: 'providers',
  right: 'admin',
  title: 'Social login',

  load({ installationSettings }) {
    const config = installationSettings.current()
    const rowsOf = (ids: readonly AnyProvider[]) =>
      ids.map((id) => rowOf(id, config, installationSettings))
    return { forUsers: rowsOf(PROVIDERS), forOperators: rowsOf(OPERATOR_PROVIDERS) }
  },

  view({ forUsers, forOperators }) {
    const count = forUsers.filter(({ isComplete }) => isComplete).length
    return (
      <>
        <PageHead
          title="Social login"
          state={{
            tone: count === 0 ? 'quiet' : 'good',
            sentence:
              count === 0
                ? 'No providers are configured. Users sign in without social login.'
                : `${count} of ${forUsers.length} providers are configured.`,
          }}
        />
        <Section
          id="users"
          title="For users"
          note="All tenants share these apps. Each tenant chooses which providers its users can use."
        >
          <List caption="Providers for users" rows={forUsers} />
        </Section>
        <Section
          id="operators"
          title="For operators"
          note="Sign-in to this console, with separate apps."
        >
          <List caption="Providers for operators" rows={forOperators} />
        </Section>
      </>
    )
  },
})

const rowOf = (id: AnyProvider, config: Config, settings: InstallationSettings): ProviderRow => ({
  id,
  name: providerName(id),
  source: settings.sourceOf(`gate.providers.${id}`),
  isComplete: missingOf(config, id).length === 0,
  clientId: config.gate.providers[id].clientId,
})

function List({ caption, rows }: { caption: string; rows: readonly ProviderRow[] }) {
  const { href } = usePage()
  return (
    <DataTable
      caption={caption}
      rows={rows}
      columns={COLUMNS}
      hrefOf={({ id }) => href(`/providers/${id}`)}
      idOf={({ id }) => id}
    />
  )
}

const COLUMNS: Column<ProviderRow>[] = [
  { label: 'Provider', cell: ({ id, name }) => <Marked provider={id} name={name} /> },
  { label: 'Status', narrow: 'corner', cell: (row) => <StatusBadge {...badgeOf(row)} /> },
  {
    label: 'Configured in',
    cell: ({ source }) => (source === undefined ? <span class="hint">–</span> : SOURCES[source]),
  },
  {
    label: 'Client ID',
    isMono: true,
    isWide: true,
    cell: ({ clientId }) =>
      clientId === undefined ? <span class="hint">–</span> : <Text text={clientId} limit={60} />,
  },
]

const SOURCES = {
  configuration: 'File or environment',
  database: 'Console',
  unusable: 'Console',
} as const

/** Status of a provider in a word. */
export function badgeOf({ source, isComplete }: Pick<ProviderRow, 'source' | 'isComplete'>): {
  tone: Tone
  word: string
} {
  if (source === 'unusable') return { tone: 'bad', word: 'unreadable' }
  return isComplete ? { tone: 'good', word: 'configured' } : { tone: 'quiet', word: 'not set up' }
}

import { Marked } from '../../../../views/provider-marks.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { counted } from '../../../../views/ui/words.ts'
import { usePage } from '../../page.tsx'
import { Switch, Switched } from './badges.tsx'

interface ProviderView {
  id: string
  name: string
  isOn: boolean
  /** Names of missing settings. */
  missing: readonly string[]
}

/** What the page of the sign-in methods shows. */
export interface SignInView {
  providers: readonly ProviderView[]
  hasCode: boolean
  hasMail: boolean
  hasSecondFactor: boolean
  returnUrls: readonly string[]
}

/** Social login providers, configured ones first. */
export const Providers = ({ providers }: SignInView) => {
  const ready = providers.filter(isReady)
  const others = providers.filter((one) => !isReady(one))
  return (
    <Section
      id="providers"
      title="Social login"
      note="An admin of the installation configures the providers. You choose which ones your users can use."
    >
      {ready.length > 0 && <List caption="Social login" rows={ready} />}
      {others.length > 0 && (
        <details class="fold" open={ready.length === 0}>
          <summary>
            {counted(others.length, ready.length > 0 ? 'more provider' : 'provider')} to set up
          </summary>
          <List caption="Not configured" rows={others} />
        </details>
      )}
    </Section>
  )
}

/** Whether it can be enabled or disabled. */
const isReady = ({ isOn, missing }: ProviderView): boolean => isOn || missing.length === 0

function List({ caption, rows }: { caption: string; rows: readonly ProviderView[] }) {
  const { href, may } = usePage()
  const isPartial = rows.some(({ missing }) => missing.length > 0)
  return (
    <DataTable
      caption={caption}
      rows={rows}
      columns={[
        ...COLUMNS,
        ...(isPartial ? [CONFIGURATION] : []),
        ...(may('change') ? [ACTION] : []),
      ]}
      hrefOf={(one) => href(pathOf(one))}
      idOf={({ id }) => id}
    />
  )
}

const pathOf = ({ id }: ProviderView): string => `/sign-in/providers/${id}`

const COLUMNS: Column<ProviderView>[] = [
  { label: 'Provider', cell: ({ id, name }) => <Marked provider={id} name={name} /> },
  {
    label: 'Status',
    narrow: 'corner',
    cell: ({ isOn, missing }) => <Switched isOn={isOn} issue={missing[0]} />,
  },
]

/** Button to enable or disable a provider, or a link to its set-up. */
const ACTION: Column<ProviderView> = {
  label: 'Action',
  align: 'right',
  narrow: 'bare',
  cell(one) {
    const path = usePage().href(pathOf(one))
    return isReady(one) ? (
      <Switch isOn={one.isOn} name={one.name} action={path} fields={{ back: 'list' }} />
    ) : (
      <LinkButton href={path} isSmall>
        Set up<span class="unseen"> {one.name}</span>
      </LinkButton>
    )
  },
}

/** Column of missing settings, shown if there are any. */
const CONFIGURATION: Column<ProviderView> = {
  label: 'Configuration',
  isWide: true,
  cell: ({ missing }) =>
    missing.length === 0 ? 'Complete' : <span class="hint">Missing {missing.join(', ')}</span>,
}

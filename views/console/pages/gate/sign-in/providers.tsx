import { type Column, DataTable } from '../../../data-table.tsx'
import { LinkButton } from '../../../form/button.tsx'
import { Section } from '../../../section.tsx'
import { url } from '../../../url.ts'
import { counted } from '../../../words.ts'
import { SIGN_IN, Switch, Switched } from './badges.tsx'
import type { ProviderView, SignInView } from './sign-in-view.ts'

/** Social login providers, configured ones first. */
export const Providers = (page: SignInView) => {
  const { providers } = page
  const ready = providers.filter(isReady)
  const others = providers.filter((one) => !isReady(one))
  return (
    <Section
      id="providers"
      title="Social login"
      note="An admin of the installation configures the providers. You choose which ones your users can use."
    >
      {ready.length > 0 && <List {...page} caption="Social login" rows={ready} />}
      {others.length > 0 && (
        <details class="fold" open={ready.length === 0}>
          <summary>
            {counted(others.length, ready.length > 0 ? 'more provider' : 'provider')} to set up
          </summary>
          <List {...page} caption="Not configured" rows={others} />
        </details>
      )}
    </Section>
  )
}

/** Whether it can be enabled or disabled. */
const isReady = ({ isOn, missing }: ProviderView): boolean => isOn || missing.length === 0

const List = ({
  base,
  mayChange,
  caption,
  rows,
}: SignInView & { caption: string; rows: readonly ProviderView[] }) => (
  <DataTable
    caption={caption}
    rows={rows}
    columns={columnsFor(rows, base, mayChange)}
    hrefOf={(one) => url(base, pathOf(one))}
    idOf={({ id }) => id}
  />
)

const pathOf = ({ id }: ProviderView): string => `${SIGN_IN}/providers/${id}`

/** Button to enable or disable a provider, or a link to its set-up. */
const Act = ({ path, ...one }: ProviderView & { path: string }) =>
  isReady(one) ? (
    <Switch isOn={one.isOn} name={one.name} action={path} fields={{ back: 'list' }} />
  ) : (
    <LinkButton href={path} isSmall>
      Set up<span class="unseen"> {one.name}</span>
    </LinkButton>
  )

const columnsFor = (
  rows: readonly ProviderView[],
  base: string,
  mayChange: boolean,
): Column<ProviderView>[] => [
  { label: 'Provider', cell: ({ name }) => name },
  {
    label: 'Status',
    narrow: 'corner',
    cell: ({ isOn, missing }) => <Switched isOn={isOn} issue={missing[0]} />,
  },
  ...(rows.some(({ missing }) => missing.length > 0) ? [CONFIGURATION] : []),
  ...(mayChange
    ? [
        {
          label: '',
          align: 'right' as const,
          narrow: 'bare' as const,
          cell: (one: ProviderView) => <Act {...one} path={url(base, pathOf(one))} />,
        },
      ]
    : []),
]

/** Column of missing settings, shown if there are any. */
const CONFIGURATION: Column<ProviderView> = {
  label: 'Configuration',
  isWide: true,
  cell: ({ missing }) =>
    missing.length === 0 ? 'Complete' : <span class="hint">Missing {missing.join(', ')}</span>,
}

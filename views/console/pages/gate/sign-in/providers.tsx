import { type Column, DataTable } from '../../../data-table.tsx'
import { LinkButton } from '../../../form/button.tsx'
import { Section } from '../../../section.tsx'
import { url } from '../../../url.ts'
import { counted } from '../../../words.ts'
import { SIGN_IN, Switch, Switched } from './marks.tsx'
import type { ProviderView, SignInView } from './page.tsx'

/** Accounts elsewhere, each of which leads to what it takes; those that work come first. */
export const Providers = (page: SignInView) => {
  const { providers } = page
  const ready = providers.filter(isReady)
  const others = providers.filter((one) => !isReady(one))
  return (
    <Section
      id="providers"
      title="Accounts elsewhere"
      note="Whoever runs the installation sets a provider up in its configuration; each tenant switches on what its people may use."
    >
      {ready.length > 0 && <List {...page} caption="Accounts elsewhere" rows={ready} />}
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

/** Whether there is something to switch. */
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

/** The switch, or the way to what has to be done before it is of use. */
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
    label: 'State',
    narrow: 'corner',
    cell: ({ isOn, missing }) => <Switched isOn={isOn} trouble={missing[0]} />,
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

/** Of no interest where nothing is missing. */
const CONFIGURATION: Column<ProviderView> = {
  label: 'Configuration',
  isWide: true,
  cell: ({ missing }) =>
    missing.length === 0 ? 'set up' : <span class="hint">lacks {missing.join(', ')}</span>,
}

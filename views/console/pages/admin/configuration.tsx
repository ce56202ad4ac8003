import type { SettingRow } from '../../../../src/config/index.ts'
import { toToml } from '../../../../src/config/show.ts'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { FilterChips } from '../../tabs.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'

const PATH = '/console/admin/configuration'

/** Every setting in force, and where it comes from. It is changed where it was set, not here. */
export const ConfigurationPage = (page: {
  base: string
  rows: readonly SettingRow[]
  /** Without them nothing can be said of where a setting comes from. */
  hasOrigins: boolean
  q: string
  isSetOnly: boolean
}) => {
  const { base, rows, hasOrigins, q, isSetOnly } = page
  const found = rows.filter(({ key }) => key.includes(q.toLowerCase()))
  const shown = isSetOnly && hasOrigins ? found.filter(isSet) : found
  // Providers that nobody set up have nothing to show; with origins they are not in the rows.
  const sections = [...Map.groupBy(shown, ({ key }) => sectionOf(key))].filter(([, of]) =>
    of.some((row) => hasOrigins || row.value !== null),
  )
  return (
    <>
      <PageHead title="Configuration" state={{ sentence: sentenceOn(rows, hasOrigins) }} />
      <FilterBar
        action={url(base, PATH)}
        search={{ label: 'Name of a setting', value: q }}
        kept={{ set: isSetOnly ? 'true' : undefined }}
        clearHref={q === '' && !isSetOnly ? undefined : url(base, PATH)}
      />
      {hasOrigins && (
        <FilterChips
          label="Settings"
          tabs={[
            {
              label: 'All',
              href: url(base, PATH, { q }),
              count: found.length,
              isCurrent: !isSetOnly,
            },
            {
              label: 'Set by somebody',
              href: url(base, PATH, { q, set: true }),
              count: found.filter(isSet).length,
              isCurrent: isSetOnly,
            },
          ]}
        />
      )}
      {sections.length === 0 && (
        <EmptyState
          icon="configuration"
          sentence="No setting is like that."
          action={<LinkButton href={url(base, PATH)}>Show all settings</LinkButton>}
        />
      )}
      {sections.map(([name, of]) => (
        <Section id={`section-${name}`} title={name === '' ? 'General' : `[${name}]`}>
          <DataTable
            caption={name === '' ? 'General' : name}
            columns={hasOrigins ? [...COLUMNS, ORIGIN] : COLUMNS}
            rows={of}
            idOf={({ key }) => key}
          />
        </Section>
      ))}
    </>
  )
}

const sectionOf = (key: string): string => key.slice(0, Math.max(key.lastIndexOf('.'), 0))

const isSet = ({ origin }: SettingRow): boolean => origin !== 'default'

function sentenceOn(rows: readonly SettingRow[], hasOrigins: boolean): string {
  const how = 'Changes are made in the file or the environment, and hold from the next start.'
  if (!hasOrigins) return `In force since the start. ${how}`
  const set = rows.filter(isSet).length
  return set === 0
    ? `All settings are at their defaults. ${how}`
    : `${set} of ${rows.length} settings were set by somebody, the rest are defaults. ${how}`
}

const COLUMNS: Column<SettingRow>[] = [
  { label: 'Setting', isMono: true, cell: ({ key }) => key.slice(key.lastIndexOf('.') + 1) },
  {
    label: 'Value',
    isMono: true,
    isWide: true,
    cell: ({ value }) => (value === null ? 'not set' : <Text text={toToml(value)} />),
  },
]

const ORIGIN: Column<SettingRow> = {
  label: 'From',
  cell: ({ origin }) => <Text text={origin} limit={80} />,
}

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
import { capitalized } from '../../words.ts'

const PATH = '/console/admin/configuration'

/** The effective settings and their sources, read-only. */
export const ConfigurationPage = (page: {
  base: string
  rows: readonly SettingRow[]
  /** Whether the sources of settings are known. */
  hasOrigins: boolean
  q: string
  isSetOnly: boolean
}) => {
  const { base, rows, hasOrigins, q, isSetOnly } = page
  const found = rows.filter(({ key }) => key.includes(q.toLowerCase()))
  const shown = isSetOnly && hasOrigins ? found.filter(isSet) : found
  // Hides providers that are not set up; with origins, they have no rows.
  const sections = [...Map.groupBy(shown, ({ key }) => sectionOf(key))].filter(([, of]) =>
    of.some((row) => hasOrigins || row.value !== null),
  )
  return (
    <>
      <PageHead title="Configuration" state={{ sentence: sentenceOn(rows, hasOrigins) }} />
      <FilterBar
        action={url(base, PATH)}
        search={{ label: 'Search settings', value: q }}
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
              label: 'Customized',
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
          sentence="No matching settings"
          action={<LinkButton href={url(base, PATH)}>View all settings</LinkButton>}
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
  const how =
    'To change a setting, edit the configuration file or the environment, then restart Gatehouse.'
  if (!hasOrigins) return `Settings since the last start. ${how}`
  const set = rows.filter(isSet).length
  return set === 0
    ? `All settings have their default values. ${how}`
    : `${set} of ${rows.length} settings are customized. ${how}`
}

const COLUMNS: Column<SettingRow>[] = [
  { label: 'Setting', isMono: true, cell: ({ key }) => key.slice(key.lastIndexOf('.') + 1) },
  {
    label: 'Value',
    isMono: true,
    isWide: true,
    cell: ({ value }) => (value === null ? 'Not set' : <Text text={toToml(value)} />),
  },
]

const ORIGIN: Column<SettingRow> = {
  label: 'Source',
  cell: ({ origin }) => <Text text={capitalized(origin)} limit={80} />,
}

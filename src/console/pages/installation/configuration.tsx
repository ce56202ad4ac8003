import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { FilterBar } from '../../../../views/ui/filter-bar.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { FilterChips } from '../../../../views/ui/tabs.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import { describeConfig, type SettingRow } from '../../../config/index.ts'
import { toToml } from '../../../config/show.ts'
import { page } from '../../page.tsx'

const PATH = '/configuration'

/** The effective settings and their sources, read-only, as in `config show`. */
export const configurationPage = page({
  path: PATH,
  section: 'configuration',
  right: 'admin',
  title: 'Configuration',

  load: ({ installationSettings, origins, query }) => ({
    rows: describeConfig(
      installationSettings.current(),
      installationSettings.originsWith(origins ?? new Map()),
    ),
    /** Whether the sources of settings are known. */
    hasOrigins: origins !== undefined,
    q: query.q ?? '',
    isSetOnly: query.set === 'true',
  }),

  view({ rows, hasOrigins, q, isSetOnly }) {
    const { href } = useHere()
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
          action={href(PATH)}
          search={{ label: 'Search settings', value: q }}
          kept={{ set: isSetOnly ? 'true' : undefined }}
          clearHref={q === '' && !isSetOnly ? undefined : href(PATH)}
        />
        {hasOrigins && (
          <FilterChips
            label="Settings"
            tabs={[
              { label: 'All', href: href(PATH, { q }), count: found.length, isCurrent: !isSetOnly },
              {
                label: 'Customized',
                href: href(PATH, { q, set: true }),
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
            action={<LinkButton href={href(PATH)}>View all settings</LinkButton>}
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
  },
})

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

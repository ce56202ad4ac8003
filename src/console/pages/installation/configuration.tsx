import { CodeBlock } from '../../../../views/ui/code.tsx'
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
import { describeSetting, renderFile, tableOf, toToml, wordOf } from '../../../config/show.ts'
import { type OperatorPageContext, page } from '../../page.tsx'

const PATH = '/configuration'

/** The effective settings and their sources, read-only, as in `config show`. */
export const configurationPage = page({
  path: PATH,
  section: 'configuration',
  right: 'admin',
  title: 'Configuration',

  load: ({ query, origins, ...context }) => ({
    rows: rowsIn({ ...context, query, origins }),
    /** Whether the sources of settings are known. */
    hasOrigins: origins !== undefined,
    q: query.q ?? '',
    isSetOnly: query.set === 'true',
    isSecure: context.baseUrl().startsWith('https:'),
  }),

  view({ rows, hasOrigins, q, isSetOnly, isSecure }) {
    const { href } = useHere()
    const found = rows.filter(({ key }) => isAbout(key, q.toLowerCase()))
    const shown = isSetOnly && hasOrigins ? found.filter(isSet) : found
    // Hides providers that are not set up; with origins, they have no rows.
    const sections = [...Map.groupBy(shown, ({ key }) => tableOf(key))].filter(([, of]) =>
      of.some((row) => hasOrigins || row.value !== null),
    )
    const needsHttps = !isSecure && q !== '' && found.some(({ key }) => key === BASE_URL)
    return (
      <>
        <PageHead
          title="Configuration"
          state={{ sentence: sentenceOn(rows, hasOrigins) }}
          aside={
            hasOrigins && (
              <LinkButton href={href(`${PATH}/export`)} isDownload>
                Export as TOML
              </LinkButton>
            )
          }
        />
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
        {needsHttps && <ServeOverHttps />}
        {sections.length === 0 && !needsHttps && (
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

  files: {
    /** The settings that are not defaults, as a configuration file without secrets. */
    export: (context) =>
      new Response(renderFile(rowsIn(context)), {
        headers: {
          'content-type': 'application/toml; charset=utf-8',
          'content-disposition': 'attachment; filename="gatehouse.toml"',
        },
      }),
  },
})

/** What to write where for a public address. */
const ServeOverHttps = () => (
  <Section
    id="https"
    title="Serve Gatehouse over HTTPS"
    note="Point a proxy with a certificate at Gatehouse, write its address in the configuration file or the environment, then restart Gatehouse."
    isCard
  >
    <CodeBlock title="gatehouse.toml" what="setting">
      {`[server]\nbase_url = "${EXAMPLE_URL}"`}
    </CodeBlock>
    <CodeBlock title="Environment" what="variable">
      {`${describeSetting(BASE_URL)?.variable}=${EXAMPLE_URL}`}
    </CodeBlock>
  </Section>
)

const BASE_URL = 'server.base_url'
const EXAMPLE_URL = 'https://gatehouse.example.com'

const rowsIn = ({ installationSettings, origins }: OperatorPageContext): SettingRow[] =>
  describeConfig(
    installationSettings.current(),
    installationSettings.originsWith(origins ?? new Map()),
  )

/** Whether the name, the variable or the explanation of a setting contains a lowercase text. */
function isAbout(key: string, q: string): boolean {
  const { help = '', variable = '' } = describeSetting(key) ?? {}
  return [key, variable, help].some((text) => text.toLowerCase().includes(q))
}

const isSet = ({ origin }: SettingRow): boolean => origin !== 'default'

function sentenceOn(rows: readonly SettingRow[], hasOrigins: boolean): string {
  const how =
    'Mail server and social login can be set in the console. For other settings, edit the configuration file or the environment, then restart Gatehouse.'
  if (!hasOrigins) return `Settings since the last start. ${how}`
  const set = rows.filter(isSet).length
  return set === 0
    ? `All settings have their default values. ${how}`
    : `${set} of ${rows.length} settings are customized. ${how}`
}

const COLUMNS: Column<SettingRow>[] = [
  { label: 'Setting', isMono: true, cell: ({ key }) => <Setting name={key} /> },
  {
    label: 'Value',
    isMono: true,
    isWide: true,
    cell: ({ value }) => (value === null ? 'Not set' : <Text text={toToml(value)} />),
  },
]

const ORIGIN: Column<SettingRow> = {
  label: 'Source',
  cell: ({ key, origin }) =>
    origin === 'database' ? (
      <a href={useHere().href(pageOf(key))}>Console</a>
    ) : (
      <Text text={capitalized(origin)} limit={80} />
    ),
}

/** The page on which a setting is made in the console. */
const pageOf = (key: string): string =>
  key.startsWith('mail.') ? '/mail-server' : `/providers/${wordOf(tableOf(key))}`

/** The name of a setting, and what it is for. */
function Setting({ name }: { name: string }) {
  const described = describeSetting(name)
  return (
    <>
      {wordOf(name)}{' '}
      {described && (
        <span class="hint setting">
          {described.help} <code>{described.variable}</code>
        </span>
      )}
    </>
  )
}

import { type Fact, Facts, Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { describeConfig, type StorableTable } from '../../../config/index.ts'
import { toToml } from '../../../config/show.ts'
import { usePage } from '../../page.tsx'

/** A table that the configuration file or the environment sets: read-only, with the source of each value. */
export function GivenTable({ table }: { table: StorableTable }) {
  const { config, origins } = usePage()
  const prefix = `${table}.`
  const rows = describeConfig(config, origins ?? new Map()).filter(
    ({ key, value }) => key.startsWith(prefix) && value !== null,
  )
  return (
    <Section
      id="given"
      title="Configuration"
      note="Set outside the console, which takes precedence. To configure it here, remove these settings and restart Gatehouse."
      isCard
    >
      <Facts
        facts={rows.map(
          ({ key, value, origin }): Fact => [
            key.slice(prefix.length),
            <>
              <code>
                <Text text={toToml(value)} limit={120} />
              </code>
              {origins && (
                <p class="hint">
                  From <Text text={origin} limit={120} />
                </p>
              )}
            </>,
          ],
        )}
      />
    </Section>
  )
}

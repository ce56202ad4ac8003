import { Facts } from '../../../../views/console/facts.tsx'
import { ActionButton, LinkButton } from '../../../../views/console/form/button.tsx'
import { PageHead } from '../../../../views/console/page-head.tsx'
import { Columns, Section } from '../../../../views/console/section.tsx'
import { StatusBadge } from '../../../../views/console/status-badge.tsx'
import { LongText, Text } from '../../../../views/console/text.tsx'
import type { Bot } from '../../../engines/passepartout/index.ts'
import type { Environment } from '../../../platform/engines.ts'
import { page, usePage } from '../../page.tsx'
import { ABOUT, BOT_TITLES, isSetUp, stateOf } from './bot-state.tsx'

/** The two bots of a tenant. */
export const botList = page({
  path: '/bots',
  section: 'bots',
  right: 'read',
  title: 'Bots',

  load: ({ passepartout, tenantId }) => ({ bots: passepartout.bots.list(tenantId) }),

  view({ bots }) {
    const botOf = (environment: Environment) => bots.find((bot) => bot.environment === environment)
    return (
      <>
        <PageHead title="Bots" state={stateOf('live', botOf('live'))} />
        <Columns>
          <BotCard environment="live" bot={botOf('live')} />
          <BotCard environment="test" bot={botOf('test')} />
        </Columns>
      </>
    )
  },
})

interface Card {
  environment: Environment
  bot: Bot | undefined
}

function BotCard({ environment, bot }: Card) {
  const { href, may } = usePage()
  const isReady = isSetUp(environment, bot)
  const isToDo = may('change') && !isReady
  return (
    <Section
      id={environment}
      title={BOT_TITLES[environment]}
      note={ABOUT[environment]}
      isCard
      aside={
        <>
          {may('change') && isReady && <NextStep environment={environment} bot={bot} />}
          <LinkButton
            isSmall
            weight={isToDo ? 'primary' : 'plain'}
            href={href(`/bots/${environment}`)}
          >
            {isToDo ? 'Set up bot' : 'View bot'}
          </LinkButton>
        </>
      }
    >
      <Facts
        facts={[
          [
            'Status',
            <StatusBadge
              tone={stateOf(environment, bot).tone}
              word={wordOn({ environment, bot })}
            />,
          ],
          ...(bot?.username
            ? ([
                ['Name', <Text text={bot.name ?? bot.username} limit={64} />],
                ['Username', <code>@{bot.username}</code>],
              ] as const)
            : []),
          ...(bot?.enabled && bot.issue
            ? [['Reason', <LongText text={bot.issue} />] as const]
            : []),
        ]}
      />
    </Section>
  )
}

function wordOn({ environment, bot }: Card): string {
  if (!isSetUp(environment, bot)) return 'not set up'
  if (!bot?.enabled) return 'disabled'
  return bot.status === 'ok' ? 'working' : 'not working'
}

/** Enables the bot or starts a test login. */
const NextStep = ({ environment, bot }: Card) => (
  <ActionButton
    isSmall
    weight={bot?.enabled ? 'plain' : 'primary'}
    action={usePage().href(`/bots/${environment}/${bot?.enabled ? 'try' : 'enable'}`)}
  >
    {bot?.enabled ? 'Start test login' : 'Enable bot'}
  </ActionButton>
)

import { PAGES } from '../../../../views/layout/navigation.ts'
import { Meter } from '../../../../views/ui/charts/meter.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { StatusShape } from '../../../../views/ui/status.tsx'
import type { Goal } from '../../checklist/goals.ts'
import { type PageContext, usePage } from '../../page.tsx'
import { isInUse, isReached } from '../set-up/first-results.ts'
import { GOAL_WORDS, guideOf } from '../set-up/goal-words.ts'

/** A step on the way to production, done or not as the data shows. */
interface ChecklistItem {
  title: string
  text: string
  href: string
  isDone: boolean
}

interface ChecklistGroup {
  title: string
  items: readonly ChecklistItem[]
}

/** A tenant's checklist for an operator; undefined if it is dismissed. */
function checklistOf(
  context: PageContext,
  isFresh: boolean,
): readonly ChecklistGroup[] | undefined {
  const checklist = context.checklists.of(context.tenantId)
  // A tenant that was set up without the console has no use for it.
  if (checklist ? checklist.isDismissed : !isFresh) return undefined
  const goals = checklist?.goals ?? []
  return [
    ...(goals.length === 0 ? [choice(context)] : goals.map((goal) => groupOf(context, goal))),
    {
      title: 'Before you go live',
      items: [
        ...(context.operator.isAdmin ? installationItems(context) : []),
        ...accountItems(context),
      ],
    },
  ]
}

const choice = ({ href }: PageContext): ChecklistGroup => ({
  title: 'First result',
  items: [
    {
      title: 'Choose what to do first',
      text: 'Sign in users, schedule jobs, send webhooks, or messenger login: each with a guide.',
      href: href('/get-started'),
      isDone: false,
    },
  ],
})

/** How a goal goes on after its first result. */
const IN_USE: Readonly<
  Record<Goal, { title: string; text: string; href: (context: PageContext) => string }>
> = {
  users: {
    title: 'Add sign-in to your app',
    text: 'Done when your app calls the API with a key for users.',
    href: ({ href }) => `${href(guideOf('users'))}#code`,
  },
  jobs: {
    title: 'Schedule a job for your own URL',
    text: 'On a cron schedule, with the method, headers and body that you need.',
    href: ({ href, may }) => href(may('change') ? '/jobs/new' : '/jobs'),
  },
  webhooks: {
    title: 'Add an endpoint of your own',
    text: 'A URL of yours or of a customer, subscribed to your event types.',
    href: ({ hrefIn, may }) => hrefIn('live', may('change') ? '/endpoints/new' : '/endpoints'),
  },
  'messenger-login': {
    title: 'Connect your Telegram bot',
    text: 'Paste its token from @BotFather and enable it.',
    href: ({ hrefIn }) => hrefIn('live', '/bots'),
  },
}

const groupOf = (context: PageContext, goal: Goal): ChecklistGroup => ({
  title: GOAL_WORDS[goal].title,
  items: [
    {
      title: GOAL_WORDS[goal].firstResult,
      text: 'A guide of three steps, in the console.',
      href: context.href(guideOf(goal)),
      isDone: isReached(context, goal),
    },
    { ...IN_USE[goal], href: IN_USE[goal].href(context), isDone: isInUse(context, goal) },
  ],
})

/** What an installation needs before real users depend on it. */
function installationItems({ instanceHealth, mail, baseUrl, href }: PageContext): ChecklistItem[] {
  return [
    {
      title: 'Connect a mail server',
      text: 'For email codes, account recovery and invitations.',
      href: href(PAGES.mailServer.path),
      isDone: mail.hasServer,
    },
    {
      title: 'Schedule backups',
      text: 'Gatehouse makes them while it runs, and deletes old ones.',
      href: href(PAGES.backups.path),
      isDone: instanceHealth.read().backups.enabled,
    },
    {
      title: 'Serve it over HTTPS',
      text: 'Set server.base_url to the public address, behind your proxy.',
      href: href('/configuration', { q: 'server.base_url' }),
      isDone: baseUrl().startsWith('https:'),
    },
  ]
}

/** What keeps a tenant and its operators' accounts safe. */
function accountItems(context: PageContext): ChecklistItem[] {
  const { operators, gateOperators, operator, tenantId, href, may } = context
  return [
    {
      title: 'Add a second operator',
      text: 'So that the tenant is not lost with one account.',
      href: href(may('team') ? '/team/invite' : '/team'),
      isDone: operators.memberships.list(tenantId).length > 1,
    },
    {
      title: 'Turn on two-factor authentication',
      text: 'For your own account, with an authenticator app.',
      href: href('/account'),
      isDone: gateOperators.signInMethodsOf(operator.id).authenticator !== undefined,
    },
  ]
}

/** The checklist on the overview. It differs by operator, so it isn't one of the page's live parts. */
export function Checklist({ isFresh }: { isFresh: boolean }) {
  const groups = checklistOf(usePage(), isFresh)
  if (!groups) return null
  const { href, may } = usePage()
  const items = groups.flatMap((group) => group.items)
  const done = items.filter(({ isDone }) => isDone).length
  return (
    <Section
      id="checklist"
      title="Get started"
      isCard
      aside={
        may('change') && (
          <>
            <LinkButton isSmall href={href('/get-started')}>
              Change goals
            </LinkButton>
            <ActionButton isSmall action={href('/get-started/dismiss')}>
              Dismiss
            </ActionButton>
          </>
        )
      }
    >
      <Meter
        label={done === items.length ? 'All done' : 'Progress'}
        value={done}
        max={items.length}
        amount={`${done} of ${items.length}`}
      />
      <div class="checklist">
        {groups.map(({ title, items }) => (
          <section>
            <h3>{title}</h3>
            <ul>{items.map(Item)}</ul>
          </section>
        ))}
      </div>
    </Section>
  )
}

const Item = ({ title, text, href, isDone }: ChecklistItem) => (
  <li class={isDone ? 'done' : undefined}>
    <StatusShape tone={isDone ? 'good' : 'quiet'} />
    <div>
      <a href={href}>{title}</a>
      {isDone ? <span class="unseen"> (done)</span> : <p class="hint">{text}</p>}
    </div>
  </li>
)

/** Brings back a dismissed checklist, in the settings. */
export function ChecklistSetting() {
  const { checklists, tenantId, may, href } = usePage()
  const isShown = checklists.of(tenantId)?.isDismissed === false
  return (
    <Section
      id="checklist"
      title="Get started"
      note="Guides to a first result with each part of Gatehouse, and a checklist on the overview."
    >
      <div class="actions">
        <LinkButton href={href('/get-started')}>Open guides</LinkButton>
        {may('change') && (
          <ActionButton action={href(`/get-started/${isShown ? 'dismiss' : 'show'}`)}>
            {isShown ? 'Dismiss checklist' : 'Show checklist'}
          </ActionButton>
        )}
      </div>
    </Section>
  )
}

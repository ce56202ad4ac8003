import { Bars } from '../../../../views/console/charts/bars.tsx'
import { Sparkline } from '../../../../views/console/charts/sparkline.tsx'
import { TimeAxis } from '../../../../views/console/charts/time-axis.tsx'
import { Events } from '../../../../views/console/events.tsx'
import { LinkButton } from '../../../../views/console/form/button.tsx'
import { PageHead } from '../../../../views/console/page-head.tsx'
import { Columns, Section } from '../../../../views/console/section.tsx'
import { Tiles } from '../../../../views/console/tiles.tsx'
import { Time } from '../../../../views/console/time.tsx'
import { createNumbers, framed, HOUR, MINUTE, NOW, SECOND } from './fixture.tsx'

const numbers = createNumbers(7)
const wave = (middle: number, swing: number) =>
  Array.from({ length: 24 }, (_, hour) =>
    Math.round(middle + swing * Math.sin((hour - 6) / 3.8) + numbers(swing)),
  )

const days = Array.from({ length: 22 }, (_, day) => ({
  label: `${day + 1} Nov`,
  values: [5, 6, 12, 13, 19, 20].includes(day)
    ? [300 + numbers(90), 190 + numbers(20), 40 + numbers(30), 180 + numbers(80)]
    : [620 + numbers(160), 210 + numbers(20), 110 + numbers(50), 420 + numbers(160)],
}))

/** What runs, what failed and what comes next. */
export const overview = () =>
  framed(
    {
      title: 'Overview',
      active: 'overview',
      crumbs: [{ label: 'Overview' }],
      here: '/console',
      banners: [
        {
          tone: 'warn',
          children:
            '8,120 of 10,000 requests used in November. At this rate, the limit is reached on 2026-11-27.',
          action: { label: 'Change plan', href: '/console/usage' },
        },
      ],
    },
    <>
      <PageHead
        title="Overview"
        state={{
          tone: 'bad',
          sentence: (
            <>
              <a href="/console/endpoints?state=failing">1 endpoint</a> and{' '}
              <a href="/console/jobs?state=failing">2 jobs</a> are failing. Everything else runs.
            </>
          ),
        }}
      />
      <Tiles
        label="Today"
        tiles={[
          {
            label: 'Sign-ins',
            value: '1,284',
            compared: { text: '+6% vs. last week', tone: 'good' },
            picture: (
              <Sparkline
                values={wave(54, 30)}
                label="Sign-ins by hour in the last 24 hours, most at 13:00"
              />
            ),
            href: '/console/identities',
          },
          {
            label: 'Runs',
            value: '412',
            compared: { text: '3 failed', tone: 'bad' },
            picture: <Sparkline values={wave(17, 3)} label="Runs by hour in the last 24 hours" />,
            href: '/console/jobs',
          },
          {
            label: 'Logins by bot',
            value: '96',
            compared: { text: 'Same as last week' },
            picture: (
              <Sparkline
                values={wave(4, 4)}
                label="Logins by hour in the last 24 hours, most at 13:00"
              />
            ),
            href: '/console/logins',
          },
          {
            label: 'Deliveries',
            value: '3,907',
            compared: { text: '98.4 % delivered', tone: 'warn' },
            picture: (
              <Sparkline
                values={wave(160, 60)}
                label="Deliveries by hour in the last 24 hours, most at 12:00"
              />
            ),
            href: '/console/deliveries',
          },
        ]}
      />
      <Section id="attention" title="Needs attention" isCard>
        <Events
          label="Needs attention"
          events={[
            {
              tone: 'bad',
              title: (
                <>
                  <a href="/console/endpoints/1">crm.nordlicht.example</a> has failed with status
                  503 since 09:14
                </>
              ),
              text: '41 deliveries are held. The next attempt is in 4 min. After 5 days, the endpoint is disabled.',
              aside: (
                <LinkButton href="/console/endpoints/1" isSmall>
                  View
                </LinkButton>
              ),
            },
            {
              tone: 'bad',
              title: (
                <>
                  <a href="/console/jobs/2">Nightly stock sync</a> failed 3 times in a row
                </>
              ),
              text: 'The TLS certificate of erp.nordlicht.example expired on 2026-11-21.',
              aside: (
                <LinkButton href="/console/jobs/2" isSmall>
                  View
                </LinkButton>
              ),
            },
            {
              tone: 'warn',
              title: <a href="/console/bots/3">@nordlicht_bot is not verified</a>,
              text: 'Users see a warning before they can select Start.',
              aside: (
                <LinkButton href="/console/bots/3" isSmall>
                  Verify
                </LinkButton>
              ),
            },
          ]}
        />
      </Section>
      <Columns>
        <Section id="next" title="Next" note="Next 2 hours" isCard>
          <TimeAxis
            label="Coming runs"
            now={NOW}
            until={NOW + 2 * HOUR}
            upcoming={[
              {
                at: NOW + 3 * MINUTE + 30 * SECOND,
                name: 'Refresh prices',
                href: '/console/jobs/3',
                note: 'every 15 min',
              },
              {
                at: NOW + 18 * MINUTE,
                name: 'Refresh prices',
                href: '/console/jobs/3',
                note: 'every 15 min',
              },
              {
                at: NOW + 33 * MINUTE,
                name: 'Send roast reminders',
                href: '/console/jobs/5',
                note: 'At 10:00 UTC every day',
              },
              {
                at: NOW + 74 * MINUTE,
                name: 'Expire carts',
                href: '/console/jobs/6',
                note: 'At minute 40 every hour',
              },
            ]}
          />
        </Section>
        <Section id="live" title="Live" isCard>
          <Events
            label="Latest events"
            events={[
              {
                tone: 'good',
                title: (
                  <>
                    <a href="/console/deliveries/1">order.created</a> delivered to
                    hooks.shop.example
                  </>
                ),
                aside: <Time at={NOW - 4 * SECOND} now={NOW} />,
              },
              {
                tone: 'busy',
                title: (
                  <>
                    <a href="/console/jobs/3">Refresh prices</a> runs
                  </>
                ),
                aside: <Time at={NOW - 9 * SECOND} now={NOW} />,
              },
              {
                tone: 'good',
                title: (
                  <>
                    <a href="/console/identities/9">mette@fjord.example</a> signed in by passkey
                  </>
                ),
                aside: <Time at={NOW - 31 * SECOND} now={NOW} />,
              },
              {
                tone: 'bad',
                title: (
                  <>
                    <a href="/console/deliveries/2">user.updated</a> to crm.nordlicht.example: 503
                  </>
                ),
                aside: <Time at={NOW - 2 * MINUTE} now={NOW} />,
              },
              {
                tone: 'quiet',
                title: (
                  <>
                    <a href="/console/logins/4">Login with @nordlicht_bot</a> expired unanswered
                  </>
                ),
                aside: <Time at={NOW - 6 * MINUTE} now={NOW} />,
              },
            ]}
          />
        </Section>
      </Columns>
      <Section
        id="usage"
        title="Usage"
        note="Requests in November by engine"
        isCard
        aside={<a href="/console/usage">View usage</a>}
      >
        <Bars
          title="Requests per day"
          series={['Gate', 'Clockwork', 'Passepartout', 'Relay']}
          bars={days}
        />
      </Section>
    </>,
  )

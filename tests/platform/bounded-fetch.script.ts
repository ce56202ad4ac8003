/** Run in a process of its own by bounded-fetch.test.ts: calls each URL, prints what came of it. */
import { createBoundedFetch } from '../../src/platform/bounded-fetch.ts'
import { systemClock } from '../../src/platform/clock.ts'

const [ca, ...urls] = process.argv.slice(2)

const fetch = createBoundedFetch({ clock: systemClock, ...(ca && { ca }) })

const results = await Promise.all(
  urls.map((url) =>
    fetch(url).then(
      ({ status }) => status,
      ({ reason }) => reason,
    ),
  ),
)
console.log(JSON.stringify(results))

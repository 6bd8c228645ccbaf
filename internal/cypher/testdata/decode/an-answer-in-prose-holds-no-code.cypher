To answer this question, we need to know the names of the teams that played in Super Bowl XXX and the coach of each team. The teams that played in Super Bowl XXX were the Los Angeles Rams (1972) and the New England Patriots (1973).

1. The Los Angeles Rams won Super Bowl XXX in 1972.
2. The New England Patriots won Super Bowl XXX in 1973.

Now, we need to find the head coach of the team that won Super Bowl XXX. According to the NFL history, the head coach of the Los Angeles Rams is Paul Brown and the head coach of the New England Patriots is Joe Blow.

Therefore, the head coach of the team that won Super Bowl XXX is Paul Brown.

MATCH d:Director - [f:Directed {title:"Jaws"}] - m:Film
WHERE d.id = 1 AND f.year < 1980
WITH f
MATCH f - [m:Directed {title:"Jaws"}] - d2:Director
WHERE f.id = f2.id AND d2.id <> d.id AND d2.name != "Mike Nichols" AND d2.name != "Ralph Caputo" AND d2.name != "John Williams" AND d2.name != "Fred Zinnemann"
RETURN d2.name
